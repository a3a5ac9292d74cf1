package config

import "os"

// ThisMachine asks the operating system.
func ThisMachine() Machine {
	m := Machine{DataHome: os.Getenv("XDG_DATA_HOME"), MemoryBytes: memoryBytes()}
	// Without a home the data directory must be named; Resolve says so.
	m.Home, _ = os.UserHomeDir()
	return m
}
