package graphql

import (
	"fmt"
	"math"

	"github.com/graph-gophers/graphql-go/decode"
)

// opt is an argument or a member of an input that may be left out or null,
// which are the same here: clients send null for what they do not mean.
type opt[T any] struct{ value *T }

var _ decode.Unmarshaler = (*opt[bool])(nil)

// ImplementsGraphQLType takes what the schema says.
func (*opt[T]) ImplementsGraphQLType(string) bool { return true }

// Nullable marks the type as one that is told of null.
func (*opt[T]) Nullable() {}

// UnmarshalGraphQL reads a value of the library's.
func (o *opt[T]) UnmarshalGraphQL(input any) error {
	o.value = nil
	if input == nil {
		return nil
	}
	if v, ok := input.(T); ok {
		o.value = &v
		return nil
	}
	var zero T
	if _, ok := any(zero).(int32); ok {
		n, err := wholeNumber(input)
		if err != nil {
			return err
		}
		v, _ := any(n).(T)
		o.value = &v
		return nil
	}
	return fmt.Errorf("could not read %T", input)
}

func wholeNumber(input any) (int32, error) {
	var f float64
	switch n := input.(type) {
	case int:
		f = float64(n)
	case int64:
		f = float64(n)
	case float64:
		f = n
	default:
		return 0, fmt.Errorf("could not read %T as a number", input)
	}
	if f != math.Trunc(f) || f < math.MinInt32 || f > math.MaxInt32 {
		return 0, fmt.Errorf("%v is not a 32-bit integer", f)
	}
	return int32(f), nil
}

// or returns the value, or fallback if there is none.
func (o opt[T]) or(fallback T) T {
	if o.value == nil {
		return fallback
	}
	return *o.value
}

type (
	optString = opt[string]
	optInt    = opt[int32]
	optBool   = opt[bool]
)

// anyJSON is an argument of a scalar that may hold anything.
type anyJSON struct{ value any }

// Nullable marks the type as one that is told of null.
func (*anyJSON) Nullable() {}

// ImplementsGraphQLType takes the scalars that hold anything.
func (*anyJSON) ImplementsGraphQLType(name string) bool {
	return name == "JSONValue" || name == "TelemetryEventInput"
}

// UnmarshalGraphQL takes any value.
func (j *anyJSON) UnmarshalGraphQL(input any) error {
	j.value = input
	return nil
}

// idList is an argument that is a list of ids, any of which may be null and is
// then empty.
type idList struct{ ids []string }

// ImplementsGraphQLType takes what the schema says.
func (*idList) ImplementsGraphQLType(string) bool { return true }

// Nullable marks the type as one that is told of null.
func (*idList) Nullable() {}

// UnmarshalGraphQL reads a list, or one id in place of a list of one.
func (l *idList) UnmarshalGraphQL(input any) error {
	l.ids = nil
	list, ok := input.([]any)
	if !ok && input != nil {
		list = []any{input}
	}
	for _, v := range list {
		id, ok := v.(string)
		if !ok && v != nil {
			return fmt.Errorf("could not read %T as an id", v)
		}
		l.ids = append(l.ids, id)
	}
	return nil
}
