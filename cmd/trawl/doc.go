// Command trawl is the service and its command line. Arguments come in and
// become settings through package config. Each command opens a data directory
// through package service, or finds the server that has it open. Answers go out
// through package print, and the outcome as an exit status: 0 found or done, 1
// nothing found, 2 trouble.
package main
