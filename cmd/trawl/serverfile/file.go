package serverfile

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"net"
	"os"
	"path/filepath"
	"strings"
)

// name is that of the file in a data directory.
const name = "server.json"

// File describes a running server.
type File struct {
	// Address is host:port by which the same machine reaches the server.
	Address string `json:"address"`
	// Public is host:port by which others reach it, "" if that is Address.
	Public string `json:"public,omitempty"`
	PID    int    `json:"pid"`
	// Token opens the admin routes.
	Token string `json:"token"`
}

// URL is the server's base URL for the same machine.
func (f File) URL() string { return "http://" + f.Address }

// PublicURL is the server's base URL for others.
func (f File) PublicURL() string { return "http://" + cmp.Or(f.Public, f.Address) }

// Write puts f into the data directory dir, readable by its owner only.
func Write(dir string, f File) error {
	data, err := json.MarshalIndent(f, "", "\t")
	if err != nil {
		return fmt.Errorf("write server file: %w", err)
	}
	// CreateTemp makes files with mode 0600, and the rename keeps a
	// half-written one from being read.
	tmp, err := os.CreateTemp(dir, name+".*")
	if err != nil {
		return fmt.Errorf("write server file: %w", err)
	}
	_, err = tmp.Write(append(data, '\n'))
	if err := errors.Join(err, tmp.Close()); err != nil {
		return errors.Join(fmt.Errorf("write server file: %w", err), os.Remove(tmp.Name()))
	}
	if err := os.Rename(tmp.Name(), filepath.Join(dir, name)); err != nil {
		return errors.Join(fmt.Errorf("write server file: %w", err), os.Remove(tmp.Name()))
	}
	return nil
}

// Read returns what the server of the data directory dir wrote; the error is
// fs.ErrNotExist if there is none.
func Read(dir string) (File, error) {
	var f File
	data, err := os.ReadFile(filepath.Join(dir, name))
	if err != nil {
		return f, fmt.Errorf("read server file: %w", err)
	}
	if err := json.Unmarshal(data, &f); err != nil {
		return f, fmt.Errorf("read server file %s: %w", filepath.Join(dir, name), err)
	}
	return f, nil
}

// Remove takes the file away, if there is one, and what a crash in Write left.
func Remove(dir string) error {
	entries, err := os.ReadDir(dir)
	for _, e := range entries {
		if strings.HasPrefix(e.Name(), name) {
			err = errors.Join(err, os.Remove(filepath.Join(dir, e.Name())))
		}
	}
	if err != nil {
		return fmt.Errorf("remove server file: %w", err)
	}
	return nil
}

// LocalAddress returns how the machine itself reaches what listens on address:
// one that stands for every interface is reached over loopback.
func LocalAddress(address string) string {
	host, port, err := net.SplitHostPort(address)
	if err != nil {
		return address
	}
	if ip := net.ParseIP(host); host == "" || ip != nil && ip.IsUnspecified() {
		host = "127.0.0.1"
	}
	return net.JoinHostPort(host, port)
}
