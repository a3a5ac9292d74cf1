package identity

import (
	"errors"

	"github.com/trawlsearch/trawl/store"
	"github.com/trawlsearch/trawl/store/table"
)

// The tables, one for each kind of record, by number, number of two, hash, or
// name or address in lower case. Values are JSON or of a fixed size.
var (
	users       = table.JSON(store.RecordUser, "user", table.Own(func(u *User) uint32 { return u.ID }))
	names       = table.Binary[string, account](store.RecordName, "name")
	emails      = table.Binary[string, uint32](store.RecordEmail, "address") // of users, verified addresses only
	passwords   = table.JSON[uint32, storedPassword](store.RecordPassword, "password of user", nil)
	resets      = table.JSON[uint32, storedReset](store.RecordReset, "reset of the password of user", nil)
	lockouts    = table.JSON[uint32, failures](store.RecordLockout, "lockout of user", nil)
	seen        = table.Binary[uint32, int64](store.RecordSeen, "last use of user") // unix seconds
	orgs        = table.JSON(store.RecordOrg, "organisation", table.Own(func(o *Org) uint32 { return o.ID }))
	members     = table.Binary[[2]uint32, struct{}](store.RecordMember, "member")         // org, user
	memberships = table.Binary[[2]uint32, struct{}](store.RecordMembership, "membership") // user, org
	tokens      = table.JSON(store.RecordToken, "token", table.Own((*Token).key))
	tokenHashes = table.Binary[hash, [2]uint32](store.RecordTokenHash, "hash of a token") // keys of live tokens only
	tokenUses   = table.Binary[uint32, tokenUse](store.RecordTokenUse, "use of token")
	sessions    = table.JSON[hash, Session](store.RecordSession, "session", nil)
	entries     = table.JSON(store.RecordAudit, "entry of the audit log", func(id uint64, e *Entry) error {
		e.ID = id
		return nil
	})
	auditActors = table.JSON[uint64, auditActor](store.RecordAudit, "entry of the audit log", nil)
	failed      = table.JSON[failureID, failures](store.RecordFailures, "failures under a key", nil)
	secrets     = table.Bytes(store.RecordSecret, "secret", checkSecret)                     // by siteSecret
	pins        = table.JSON(store.RecordPin, "pin of a reader", checkPin)                   // by user:NAME or org:NAME
	externals   = table.JSON(store.RecordExternal, "link to another service", checkExternal) // by provider/subject
	counters    = table.JSON[string, uint64](store.RecordCounter, "counter", nil)
)

// account is the user or organisation of a name. It is kept as kind(1) id(4),
// big-endian: the order of the fields is the format on disk.
type account struct {
	Kind byte
	ID   uint32
}

func isNotFound(err error) bool { return errors.Is(err, store.ErrNotFound) }
func isCorrupt(err error) bool  { return errors.Is(err, store.ErrCorrupt) }

// The counters.
const (
	counterUser  = "user"
	counterOrg   = "org"
	counterToken = "token"
	counterAudit = "audit"
)

// The owners of names.
const (
	nameOfUser = 'u'
	nameOfOrg  = 'o'
)

// TellDamaged reports a damaged record to the owner of the registry, once.
func (r *recordReader) TellDamaged(kind store.RecordKind, id []byte, err error) {
	key := string(kind) + string(id)
	if _, told := r.told.LoadOrStore(key, true); !told {
		r.options().Damaged(err)
	}
}
