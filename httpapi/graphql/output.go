package graphql

import (
	"fmt"
	"strconv"
	"time"
)

// dateTime is the scalar DateTime.
type dateTime struct{ time.Time }

// ImplementsGraphQLType tells which scalar it is.
func (dateTime) ImplementsGraphQLType(name string) bool { return name == "DateTime" }

// UnmarshalGraphQL reads RFC 3339.
func (d *dateTime) UnmarshalGraphQL(input any) (err error) {
	text, ok := input.(string)
	if !ok {
		return fmt.Errorf("could not read %T as a time", input)
	}
	d.Time, err = time.Parse(time.RFC3339, text)
	return err
}

// MarshalJSON writes RFC 3339 in UTC, to the second.
func (d dateTime) MarshalJSON() ([]byte, error) {
	return strconv.AppendQuote(nil, d.UTC().Format(time.RFC3339)), nil
}

// moment returns t, or null for the zero time.
func moment(t time.Time) *dateTime {
	if t.IsZero() {
		return nil
	}
	return &dateTime{t}
}

// bigInt is the scalar BigInt.
type bigInt int64

// ImplementsGraphQLType tells which scalar it is.
func (bigInt) ImplementsGraphQLType(name string) bool { return name == "BigInt" }

// UnmarshalGraphQL reads decimal text.
func (b *bigInt) UnmarshalGraphQL(input any) error {
	text, ok := input.(string)
	if !ok {
		return fmt.Errorf("could not read %T as decimal text", input)
	}
	n, err := strconv.ParseInt(text, 10, 64)
	*b = bigInt(n)
	return err
}

// MarshalJSON writes decimal text.
func (b bigInt) MarshalJSON() ([]byte, error) {
	return strconv.AppendQuote(nil, strconv.FormatInt(int64(b), 10)), nil
}

// text is a scalar that is text: GitObjectID and JSONCString.
type text string

// ImplementsGraphQLType tells which scalars it is.
func (text) ImplementsGraphQLType(name string) bool {
	return name == "GitObjectID" || name == "JSONCString"
}

// UnmarshalGraphQL reads text.
func (t *text) UnmarshalGraphQL(input any) error {
	s, ok := input.(string)
	if !ok {
		return fmt.Errorf("could not read %T as text", input)
	}
	*t = text(s)
	return nil
}

// small returns n as the 32 bits that Int has, the nearest of them.
func small[N int | int64 | uint32 | uint64](n N) int32 {
	return int32(min(uint64(max(n, 0)), 1<<31-1))
}

// orNull returns null for empty text.
func orNull(s string) *string {
	if s == "" {
		return nil
	}
	return &s
}

// nothing is EmptyResponse.
type nothing struct{}

// AlwaysNil is null.
func (nothing) AlwaysNil() *string { return nil }
