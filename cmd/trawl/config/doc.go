// Package config turns what a person said into Settings. Flags, environment
// variables and a configuration file come in as text. Each value is read by the
// one parser of its setting, in the order default, file, environment, flag.
// Settings come out, or an error with the position of the value and a valid
// one. The commands of trawl call it once, at their start.
//
// It opens nothing but the file, and it does not act on any setting.
package config
