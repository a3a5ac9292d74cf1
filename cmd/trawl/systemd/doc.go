// Package systemd tells the service manager how a server is, by the protocol of
// sd_notify: that it is ready, what it does, that it lives, that it stops. Where
// nobody listens, as outside of a unit, all of it does nothing.
package systemd
