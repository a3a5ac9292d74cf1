//go:build !linux

package httpapi

import "net"

// listenConfig leaves to the system how much it holds of what was written.
var listenConfig net.ListenConfig
