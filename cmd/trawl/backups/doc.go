// Package backups makes, lists and verifies the backups of a data directory. The section
// backup of the configuration file and requests of admins come in; backups at a
// destination, and what is known of them, go out. Package store/backup reads and writes
// them. This package decides when, makes one at a time, and remembers how it went.
//
// It restores nothing. Of searches it knows only how many are at work, and yields to
// them.
package backups
