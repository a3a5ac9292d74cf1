package config

import (
	"errors"
	"fmt"
	"time"
)

// Cluster are the settings of a node that shares its store with others. The zero
// value is a store of one machine.
type Cluster struct {
	// Authority is the address of the database that has the records of all nodes, "" for
	// a store of one machine. AuthorityPasswordFile holds its password, if the address
	// does not.
	Authority, AuthorityPasswordFile string
	// Objects is where the runs of shards are that nodes share: a folder or a bucket.
	Objects string
	// Grace is for how long the node answers from what it knew last while the database
	// cannot be asked; 0 is not at all.
	Grace time.Duration
}

// clusterSettings are those of nodes.
func clusterSettings() []Setting {
	return []Setting{
		{"authority", "URL", "not set, the data directory is a store of its own",
			"database whose records this node shares with others: postgres://user@host/database", setAuthority},
		{"authority-password-file", "FILE", "not set",
			"file with the password of that database, read for each connection", setAuthorityPasswordFile},
		{"objects", "DESTINATION", "not set",
			"folder, file:///folder or s3://bucket/prefix where nodes put the shards that they share; goes with authority", setObjects},
		{"authority-grace", "TIME", "0",
			"for how long a node answers from what it knew last while the database is away, revoked credentials included; 0 refuses after a second", setGrace},
	}
}

func setAuthority(s *Settings, text string) error {
	s.Authority = text // Node.Open says what is wrong with it, and shows no password
	return nil
}

func setAuthorityPasswordFile(s *Settings, text string) error {
	s.AuthorityPasswordFile = text
	return nil
}

func setObjects(s *Settings, text string) error {
	s.Objects = text
	return nil
}

// mostGrace bounds for how long a credential that was revoked may still count.
const mostGrace = 24 * time.Hour

func setGrace(s *Settings, text string) (err error) {
	s.Grace, err = parseTime(text)
	if err == nil && s.Grace > mostGrace {
		err = fmt.Errorf("%s is too long: give at most %s", text, mostGrace)
	}
	return err
}

// check refuses settings that lack others.
func (c *Cluster) check() error {
	switch {
	case c.Authority == "" && c.Objects != "":
		return errors.New("objects without authority: name the database as well, with --authority or TRAWL_AUTHORITY")
	case c.Authority != "" && c.Objects == "":
		return errors.New("authority without objects: name the folder or bucket for shards as well, with --objects or TRAWL_OBJECTS")
	case c.Authority == "" && c.AuthorityPasswordFile != "":
		return errors.New("authority-password-file without authority: name the database as well, with --authority or TRAWL_AUTHORITY")
	}
	return nil
}
