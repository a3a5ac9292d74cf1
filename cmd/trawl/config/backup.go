package config

import (
	"path/filepath"
	"strconv"
	"strings"
	"time"

	"go.yaml.in/yaml/v3"

	"github.com/trawlsearch/trawl/store/backup"
)

// Backup are the settings of regular backups.
type Backup struct {
	// To is the destination: a folder, or the address of a bucket.
	To string
	// Every is the time between the beginnings of two backups.
	Every time.Duration
	// Mirrors takes git mirrors in.
	Mirrors bool
	// Recipients are public keys to encrypt to, one a line, PassphraseFile is a
	// file with a passphrase; at most one of them is set.
	Recipients     string
	PassphraseFile string
	// Keep says which backups stay after each new one; the zero value keeps all.
	Keep backup.Keep
}

// backupKey is the key of the file, backupKeys those below it, keepKeys those
// of its rules.
const backupKey = "backup"

var (
	backupKeys = []string{"to", "every", "mirrors", "recipients", "passphrase-file", "keep"}
	keepKeys   = []string{"last", "daily", "weekly", "monthly", "yearly"}
)

// leastBackupInterval keeps a typing error from backing up all the time.
const leastBackupInterval = time.Minute

// backup reads what is backed up.
func (f *File) backup(n *yaml.Node) error {
	if isNull(n) {
		return nil
	}
	b := &Backup{Every: 24 * time.Hour}
	err := f.mapping(n, backupKeys, func(key string, v *yaml.Node) error { return f.backupValue(b, key, v) })
	switch {
	case err != nil:
		return err
	case b.To == "":
		return f.errorAt(n.Line, "%s: to is missing: say where to, as in to: /backups/trawl", backupKey)
	case b.Recipients != "" && b.PassphraseFile != "":
		return f.errorAt(n.Line, "%s: there are recipients and a passphrase-file: keep one of them", backupKey)
	}
	f.Backup = b
	return nil
}

func (f *File) backupValue(b *Backup, key string, v *yaml.Node) error {
	switch key {
	case "recipients":
		all, err := f.list(key, v)
		for _, n := range all {
			text, serr := f.scalar(key, n)
			if serr != nil {
				return serr
			}
			b.Recipients += strings.TrimSpace(text) + "\n"
		}
		return err
	case "keep":
		return f.mapping(v, keepKeys, func(rule string, v *yaml.Node) error { return f.keepRule(&b.Keep, rule, v) })
	}
	text, err := f.scalar(key, v)
	if err != nil {
		return err
	}
	switch key {
	case "to":
		b.To = f.relative(text)
	case "passphrase-file":
		b.PassphraseFile = f.relative(text)
	case "mirrors":
		if b.Mirrors, err = strconv.ParseBool(text); err != nil {
			return f.errorAt(v.Line, "%s: mirrors: %q is not true or false", backupKey, text)
		}
	case "every":
		if b.Every, err = parseTime(text); err != nil {
			return f.errorAt(v.Line, "%s: every: %v", backupKey, err)
		}
		if b.Every < leastBackupInterval {
			return f.errorAt(v.Line, "%s: every: %s is too often: give at least %s", backupKey, text, leastBackupInterval)
		}
	}
	return nil
}

func (f *File) keepRule(k *backup.Keep, rule string, v *yaml.Node) error {
	text, err := f.scalar(rule, v)
	if err != nil {
		return err
	}
	n, err := strconv.Atoi(text)
	if err != nil || n < 1 {
		return f.errorAt(v.Line, "%s: keep: %s: %q is no number of at least 1", backupKey, rule, text)
	}
	switch rule {
	case "last":
		k.Last = n
	case "daily":
		k.Daily = n
	case "weekly":
		k.Weekly = n
	case "monthly":
		k.Monthly = n
	case "yearly":
		k.Yearly = n
	}
	return nil
}

// relative makes a path of the file one that is good anywhere; an address stays.
func (f *File) relative(text string) string {
	if text == "" || strings.Contains(text, "://") || filepath.IsAbs(text) {
		return text
	}
	dir, err := filepath.Abs(filepath.Dir(f.Path))
	if err != nil {
		return text
	}
	return filepath.Join(dir, text)
}
