// Package systemd reports the state of a server to the service manager, by the
// protocol of sd_notify: that it is ready, what it does, that it lives, that it
// stops. Without a listener, as outside of a unit, it does nothing.
package systemd
