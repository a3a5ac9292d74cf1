package cost

import "fmt"

// Limits are the most that one document may ask for; 0 is the default.
type Limits struct {
	// Aliases is how many fields may have another name, by default 500.
	Aliases int
	// Fields is how many fields the answer may have if every list is as long
	// as was asked for, by default 500,000.
	Fields int
	// Depth is how deep selections may nest, by default 30.
	Depth int
	// DuplicateFields is how often one field name may stand in one operation
	// or fragment, by default 500.
	DuplicateFields int
	// UniqueFields is how many field names there may be, by default 500.
	UniqueFields int
}

// Keyed is a limit with its key in configurations.
type Keyed struct {
	Key      string
	Limit    *int
	Standard int // the default
}

// Keyed returns the limits of l, in the order of the API.
func (l *Limits) Keyed() []Keyed {
	return []Keyed{
		{"graphQLMaxAliases", &l.Aliases, 500},
		{"graphQLMaxFieldCount", &l.Fields, 500_000},
		{"graphQLMaxDepth", &l.Depth, 30},
		{"graphQLMaxDuplicateFieldCount", &l.DuplicateFields, 500},
		{"graphQLMaxUniqueFieldCount", &l.UniqueFields, 500},
	}
}

// WithDefaults returns l with the defaults filled in.
func (l Limits) WithDefaults() Limits {
	for _, k := range l.Keyed() {
		if *k.Limit == 0 {
			*k.Limit = k.Standard
		}
	}
	return l
}

// Or returns l with the limits of weaker where l has the default.
func (l Limits) Or(weaker Limits) Limits {
	from := weaker.Keyed()
	for i, k := range l.Keyed() {
		if *k.Limit == 0 {
			*k.Limit = *from[i].Limit
		}
	}
	return l
}

// Changes says what is another in later, such as "graphQLMaxDepth: 30 -> 40".
func (l Limits) Changes(later Limits) []string {
	var out []string
	now := later.Keyed()
	for i, k := range l.Keyed() {
		if *k.Limit != *now[i].Limit {
			out = append(out, fmt.Sprintf("%s: %d -> %d", k.Key, *k.Limit, *now[i].Limit))
		}
	}
	return out
}

// Cost is what a document asks for, in the terms of Limits.
type Cost struct {
	Aliases, Fields, Depth, DuplicateFields, UniqueFields int
	// InnerAliases are the aliases but for those of an operation's own fields.
	// No limit is for them: they bound how often one entry of a list can be
	// asked for the same.
	InnerAliases int
	// Mutations is how many fields the largest mutation has, __typename left out.
	// Each changes something. The API has no limit for them; the endpoint does.
	Mutations int
}

// Violation is a limit that was exceeded.
type Violation struct {
	// Type is the limit's name in the API, such as "alias count".
	Type          string
	Limit, Actual int
}

// Check returns the limits that c exceeds, in the order of the API.
func (l Limits) Check(c Cost) []Violation {
	l = l.WithDefaults()
	var out []Violation
	for _, v := range []Violation{
		{"alias count", l.Aliases, c.Aliases},
		{"field count", l.Fields, c.Fields},
		{"query depth", l.Depth, c.Depth},
		{"duplicate field count", l.DuplicateFields, c.DuplicateFields},
		{"unique field count", l.UniqueFields, c.UniqueFields},
	} {
		if v.Actual > v.Limit {
			out = append(out, v)
		}
	}
	return out
}
