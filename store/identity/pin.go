package identity

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/trawlsearch/trawl/store"
)

// Names of readers that stand in the configuration file mean the account that had
// the name when it was first looked up. A record, the pin, keeps its ID: an
// account that takes the name later is not meant. Names of the file are reserved:
// only site admins and the operator can give them to an account, and one without
// a pin is pinned then.

// PinState is the account of a name in the configuration file.
type PinState string

// The states. With PinWaiting no account has had the name yet, with PinDeleted
// the account is gone; both let in no user.
const (
	PinInForce PinState = "in force"
	PinWaiting PinState = "waiting"
	PinDeleted PinState = "deleted"
)

// Pin is a name of the configuration file, such as user:zoe, and what it stands
// for.
type Pin struct {
	Reader string
	State  PinState
	// ID is that of the account, Now what it is called now.
	ID    uint32
	Now   string
	Since time.Time
}

// String says it in words.
func (p Pin) String() string {
	switch {
	case p.State == PinWaiting:
		return p.Reader + " is not there yet, and its name is reserved"
	case p.State == PinDeleted:
		return fmt.Sprintf("%s was account %d, which is deleted: the name stands for no other account", p.Reader, p.ID)
	}
	return fmt.Sprintf("%s is account %d, now called %s", p.Reader, p.ID, p.Now)
}

// storedPin is the record of a pin.
type storedPin struct {
	ID    uint32    `json:"id"`
	Since time.Time `json:"since"`
}

// checkPin refuses the pin of a text that names no reader.
func checkPin(reader string, _ *storedPin) error {
	if _, _, ok := cutReader(reader); !ok {
		return errors.New("it is of no reader")
	}
	return nil
}

// pinKey is the id of a pin: the reader in lower case.
func pinKey(reader string) string { return strings.ToLower(reader) }

// cutReader takes user:NAME or org:NAME apart.
func cutReader(text string) (kind byte, name string, ok bool) {
	word, name, _ := strings.Cut(text, ":")
	switch {
	case CheckName(name) != nil:
	case strings.EqualFold(word, "user"):
		return nameOfUser, name, true
	case strings.EqualFold(word, "org"):
		return nameOfOrg, name, true
	}
	return 0, "", false
}

// pinned finds what readers of the configuration file stand for, and pins those
// that are looked up for the first time.
func (r *transactions) pinned(by Author, texts []string) (pins []Pin, readers *store.Readers, err error) {
	if len(texts) == 1 && (texts[0] == Everyone || texts[0] == Nobody) {
		readers, err = r.ParseReaders(texts)
		return nil, readers, err
	}
	err = r.change(by, func(c *change) error {
		pins, readers = nil, &store.Readers{}
		for _, text := range texts {
			kind, name, ok := cutReader(text)
			if !ok {
				return errNoReader(text)
			}
			p, err := c.pin(text, kind, name)
			if err != nil {
				return err
			}
			pins = append(pins, p)
			switch {
			case p.State != PinInForce:
			case kind == nameOfUser:
				readers.Users = append(readers.Users, p.ID)
			default:
				readers.Orgs = append(readers.Orgs, p.ID)
			}
		}
		return nil
	})
	return pins, readers, err
}

// pin returns the account of a reader, and pins it if an account has the name
// and none has had it before.
func (c *change) pin(reader string, kind byte, name string) (Pin, error) {
	p, err := c.pinOf(reader, kind)
	if err != nil || p.State != PinWaiting {
		return p, err
	}
	id, err := c.owner(name, kind)
	if isNotFound(err) {
		return p, nil
	}
	if err != nil {
		return p, err
	}
	if err := c.putPin(reader, id); err != nil {
		return p, err
	}
	p.State, p.ID, p.Now, p.Since = PinInForce, id, name, c.now
	return p, nil
}

func (c *change) putPin(reader string, id uint32) error {
	c.audit(ActionPin, reader, "account %d", id)
	c.pins = append(c.pins, pinKey(reader))
	return pins.Put(c.records, pinKey(reader), &storedPin{ID: id, Since: c.now})
}

// pinOf returns the account of a reader if it is known.
func (r accounts) pinOf(reader string, kind byte) (Pin, error) {
	p := Pin{Reader: reader, State: PinWaiting}
	stored, err := pins.Get(r.st, pinKey(reader))
	if isNotFound(err) {
		return p, nil
	}
	if err != nil {
		return p, err
	}
	p.State, p.ID, p.Since = PinInForce, stored.ID, stored.Since
	p.Now, err = r.nameOf(kind, stored.ID)
	if isNotFound(err) {
		p.State, err = PinDeleted, nil
	}
	return p, err
}

// nameOf returns the name of the user or organisation with an ID.
func (r accounts) nameOf(kind byte, id uint32) (string, error) {
	if kind == nameOfUser {
		u, err := r.User(id)
		if err != nil {
			return "", err
		}
		return u.Name, nil
	}
	o, err := r.Org(id)
	if err != nil {
		return "", err
	}
	return o.Name, nil
}

// Pins returns the accounts of the names in the configuration file: those of
// one repository or, for "", all, and names that were pinned and have been
// removed from the file.
func (r *transactions) Pins(repository string) ([]Pin, error) {
	readers := r.declared.texts(repository)
	if repository == "" {
		readers = r.declared.all()
		err := r.st.EachRecord(store.RecordRange{Kind: store.RecordPin}, func(id, _ []byte) (bool, error) {
			if !slices.Contains(readers, string(id)) {
				readers = append(readers, string(id))
			}
			return true, nil
		})
		if err != nil {
			return nil, fmt.Errorf("list pins: %w", err)
		}
		slices.Sort(readers)
	}
	var out []Pin
	for _, reader := range readers {
		kind, _, ok := cutReader(reader)
		if !ok {
			continue // everyone, nobody, or a mistake that is reported elsewhere
		}
		p, err := r.pinOf(reader, kind)
		if err != nil {
			return nil, err
		}
		out = append(out, p)
	}
	return out, nil
}

// Repin has a reader of the configuration file stand for the account that has the
// name now, or wait for one.
func (r *transactions) Repin(by Author, reader string) (p Pin, err error) {
	kind, name, ok := cutReader(reader)
	if !ok {
		return p, errNoReader(reader)
	}
	err = r.change(by, func(c *change) error {
		p = Pin{Reader: reader, State: PinWaiting}
		c.pins = append(c.pins, pinKey(reader))
		id, err := c.owner(name, kind)
		if isNotFound(err) {
			c.audit(ActionPin, reader, "no account")
			pins.Delete(c.records, pinKey(reader))
			return nil
		}
		if err != nil {
			return err
		}
		p.State, p.ID, p.Now, p.Since = PinInForce, id, name, c.now
		return c.putPin(reader, id)
	})
	if err != nil {
		return p, fmt.Errorf("pin %s: %w", reader, err)
	}
	return p, nil
}

// reserve refuses a name of the configuration file to users who may not give it to
// an account, and pins it for the account that gets it.
func (c *change) reserve(name string, kind byte, id uint32) error {
	if !c.of.declared.reserves(name) {
		return nil
	}
	reader := userTarget(name)
	if kind == nameOfOrg {
		reader = orgTarget(name)
	}
	p, err := c.pinOf(reader, kind)
	switch {
	case err != nil:
		return err
	case p.State == PinInForce && p.ID == id:
		return nil // it takes its own name back
	case !c.byAdmin():
		return refuse("the name %q is reserved: ask a site admin", name)
	case p.State != PinWaiting, !slices.Contains(c.of.declared.all(), pinKey(reader)):
		return nil // pinned already, or the file means the other kind of account
	}
	return c.putPin(reader, id)
}

// byAdmin reports whether the operator or a site admin makes the change, or it
// makes the first user.
func (c *change) byAdmin() bool { return c.by.Operator || !c.used() || c.isAdmin(c.by.UserID) }

func errNoReader(text string) error {
	return refuse("%q is no reader: write %s, %s, or a list of user:NAME and org:NAME", text, Everyone, Nobody)
}
