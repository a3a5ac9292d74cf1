package wire

import (
	"fmt"
	"strconv"
	"time"
)

// DateTime is the scalar DateTime.
type DateTime struct{ time.Time }

// ImplementsGraphQLType tells which scalar it is.
func (DateTime) ImplementsGraphQLType(name string) bool { return name == "DateTime" }

// UnmarshalGraphQL reads RFC 3339.
func (d *DateTime) UnmarshalGraphQL(input any) (err error) {
	text, ok := input.(string)
	if !ok {
		return fmt.Errorf("could not read %T as a time", input)
	}
	d.Time, err = time.Parse(time.RFC3339, text)
	return err
}

// MarshalJSON writes RFC 3339 in UTC, to the second.
func (d DateTime) MarshalJSON() ([]byte, error) {
	return strconv.AppendQuote(nil, d.UTC().Format(time.RFC3339)), nil
}

// TimeOrNull returns t, or null for the zero time.
func TimeOrNull(t time.Time) *DateTime {
	if t.IsZero() {
		return nil
	}
	return &DateTime{t}
}

// BigInt is the scalar BigInt.
type BigInt int64

// ImplementsGraphQLType tells which scalar it is.
func (BigInt) ImplementsGraphQLType(name string) bool { return name == "BigInt" }

// UnmarshalGraphQL reads decimal text.
func (b *BigInt) UnmarshalGraphQL(input any) error {
	text, ok := input.(string)
	if !ok {
		return fmt.Errorf("could not read %T as decimal text", input)
	}
	n, err := strconv.ParseInt(text, 10, 64)
	*b = BigInt(n)
	return err
}

// MarshalJSON writes decimal text.
func (b BigInt) MarshalJSON() ([]byte, error) {
	return strconv.AppendQuote(nil, strconv.FormatInt(int64(b), 10)), nil
}

// Text is a scalar that is text: GitObjectID and JSONCString.
type Text string

// ImplementsGraphQLType tells which scalars it is.
func (Text) ImplementsGraphQLType(name string) bool {
	return name == "GitObjectID" || name == "JSONCString"
}

// UnmarshalGraphQL reads text.
func (t *Text) UnmarshalGraphQL(input any) error {
	s, ok := input.(string)
	if !ok {
		return fmt.Errorf("could not read %T as text", input)
	}
	*t = Text(s)
	return nil
}

// Int32 returns n as the 32 bits that Int has, the nearest of them.
func Int32[N int | int64 | uint32 | uint64](n N) int32 {
	return int32(min(uint64(max(n, 0)), 1<<31-1))
}

// TextOrNull returns null for empty text.
func TextOrNull(s string) *string {
	if s == "" {
		return nil
	}
	return &s
}

// Empty is EmptyResponse.
type Empty struct{}

// AlwaysNil is null.
func (Empty) AlwaysNil() *string { return nil }
