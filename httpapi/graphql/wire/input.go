package wire

import (
	"fmt"
	"math"

	"github.com/graph-gophers/graphql-go/decode"
)

// Optional is an argument or a member of an input that may be left out or null,
// which are the same here: clients send null for what they do not mean.
type Optional[T any] struct{ Value *T }

var _ decode.Unmarshaler = (*Optional[bool])(nil)

// ImplementsGraphQLType takes what the schema says.
func (*Optional[T]) ImplementsGraphQLType(string) bool { return true }

// Nullable marks the type as one that is told of null.
func (*Optional[T]) Nullable() {}

// UnmarshalGraphQL reads a value of the library's.
func (o *Optional[T]) UnmarshalGraphQL(input any) error {
	o.Value = nil
	if input == nil {
		return nil
	}
	if v, ok := input.(T); ok {
		o.Value = &v
		return nil
	}
	var zero T
	if _, ok := any(zero).(int32); ok {
		n, err := wholeNumber(input)
		if err != nil {
			return err
		}
		v, _ := any(n).(T)
		o.Value = &v
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

// Or returns the value, or fallback if there is none.
func (o Optional[T]) Or(fallback T) T {
	if o.Value == nil {
		return fallback
	}
	return *o.Value
}

// String, Int and Bool are the optional scalars.
type (
	String = Optional[string]
	Int    = Optional[int32]
	Bool   = Optional[bool]
)

// AnyJSON is an argument of a scalar that may hold anything.
type AnyJSON struct{ Value any }

// Nullable marks the type as one that is told of null.
func (*AnyJSON) Nullable() {}

// ImplementsGraphQLType takes the scalars that hold anything.
func (*AnyJSON) ImplementsGraphQLType(name string) bool {
	return name == "JSONValue" || name == "TelemetryEventInput"
}

// UnmarshalGraphQL takes any value.
func (j *AnyJSON) UnmarshalGraphQL(input any) error {
	j.Value = input
	return nil
}

// IDList is an argument that is a list of ids, any of which may be null and is
// then empty.
type IDList struct{ IDs []string }

// ImplementsGraphQLType takes what the schema says.
func (*IDList) ImplementsGraphQLType(string) bool { return true }

// Nullable marks the type as one that is told of null.
func (*IDList) Nullable() {}

// UnmarshalGraphQL reads a list, or one id in place of a list of one.
func (l *IDList) UnmarshalGraphQL(input any) error {
	l.IDs = nil
	list, ok := input.([]any)
	if !ok && input != nil {
		list = []any{input}
	}
	for _, v := range list {
		id, ok := v.(string)
		if !ok && v != nil {
			return fmt.Errorf("could not read %T as an id", v)
		}
		l.IDs = append(l.IDs, id)
	}
	return nil
}
