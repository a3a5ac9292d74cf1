// Package config turns what a person said into Settings. Flags, environment
// variables and a configuration file come in as text; each value is read by the
// one parser its setting has, in the order default, file, environment, flag;
// Settings come out, or an error that says where the value stands and what
// would be right. The commands of trawl call it once, at their start.
//
// It opens nothing but the file, and it does not act on any setting.
package config
