package identity

import (
	"errors"
	"fmt"
	"strings"

	"github.com/trawlsearch/trawl/store"
)

// Everyone and Nobody are the readers of a public repository and of one that
// only site admins may see.
const (
	Everyone = "everyone"
	Nobody   = "nobody"
)

// ParseReaders finds the readers that texts name: everyone or nobody alone, or
// user:NAME and org:NAME.
func (r accounts) ParseReaders(texts []string) (*store.Readers, error) {
	if len(texts) == 1 && texts[0] == Everyone {
		return nil, nil
	}
	out := &store.Readers{}
	if len(texts) == 1 && texts[0] == Nobody {
		return out, nil
	}
	if len(texts) == 0 {
		return nil, refuse("say who: %s, %s, or a list of user:NAME and org:NAME", Everyone, Nobody)
	}
	for _, text := range texts {
		kind, name, _ := strings.Cut(text, ":")
		switch kind {
		case "user":
			u, err := r.UserNamed(name)
			if err != nil {
				return nil, err
			}
			out.Users = append(out.Users, u.ID)
		case "org":
			o, err := r.OrgNamed(name)
			if err != nil {
				return nil, err
			}
			out.Orgs = append(out.Orgs, o.ID)
		default:
			return nil, errNoReader(text)
		}
	}
	return out, nil
}

// FormatReaders writes readers as ParseReaders reads them; deleted users are
// left out.
func (r accounts) FormatReaders(readers *store.Readers) ([]string, error) {
	if readers == nil {
		return []string{Everyone}, nil
	}
	var out []string
	for _, id := range readers.Users {
		u, err := r.User(id)
		if err == nil {
			out = append(out, userTarget(u.Name))
		} else if !isNotFound(err) {
			return nil, err
		}
	}
	for _, id := range readers.Orgs {
		o, err := r.Org(id)
		if err == nil {
			out = append(out, orgTarget(o.Name))
		} else if !isNotFound(err) {
			return nil, err
		}
	}
	if len(out) == 0 {
		return []string{Nobody}, nil
	}
	return out, nil
}

// SetReaders sets the readers of a repository, in texts as ParseReaders reads
// them, and logs it in the same commit. It refuses one whose readers its code host says.
func (r *transactions) SetReaders(by Author, repository string, texts []string) (*store.Repository, error) {
	readers, err := r.ParseReaders(texts)
	if err != nil {
		return nil, fmt.Errorf("set readers: %w", err)
	}
	after, err := r.setReaders(by, repository, readers, func(now *store.Repository) error {
		if now.HasHostReaders() {
			return refuse("a code host says who may see this repository: change that there")
		}
		return nil
	})
	if err != nil {
		return nil, fmt.Errorf("set readers: %w", err)
	}
	return after, nil
}

// setReaders sets the readers of a repository that permit has seen as it is then.
func (r *transactions) setReaders(by Author, repository string, readers *store.Readers, permit func(*store.Repository) error) (after *store.Repository, err error) {
	err = r.update(func(tx *store.Tx) error {
		now, err := tx.Repository(repository)
		if err != nil {
			return err
		}
		if err := permit(now); err != nil {
			return err
		}
		c := r.newChange(by, tx)
		names, err := c.FormatReaders(readers)
		if err != nil {
			return err
		}
		c.audit(ActionReaders, "repository:"+repository, "%s", strings.Join(names, " "))
		if after, err = tx.SetReaders(repository, readers); err != nil {
			return err
		}
		return c.finish()
	})
	return after, err
}

// record returns the present record of a repository.
func (r *transactions) record(repository string) (out *store.Repository, err error) {
	sn := r.store.Snapshot()
	defer func() { err = errors.Join(err, sn.Close()) }()
	return sn.Repository(repository)
}
