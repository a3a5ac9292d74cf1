package store

import "time"

// Timestamp is a time.Time in a third of its memory: nanoseconds since 1970, 0 for
// none. It is written as a time.Time is.
type Timestamp int64

// TimestampOf returns t as a Timestamp, 0 for the zero time and one before 1970.
func TimestampOf(t time.Time) Timestamp {
	if t.Unix() < 0 {
		return 0
	}
	return Timestamp(t.UnixNano())
}

// Time returns t in UTC, the zero time for none.
func (t Timestamp) Time() time.Time {
	if t == 0 {
		return time.Time{}
	}
	return time.Unix(0, int64(t)).UTC()
}

// MarshalJSON implements json.Marshaler.
func (t Timestamp) MarshalJSON() ([]byte, error) { return t.Time().MarshalJSON() }

// UnmarshalJSON implements json.Unmarshaler.
func (t *Timestamp) UnmarshalJSON(text []byte) error {
	var at time.Time
	err := at.UnmarshalJSON(text)
	*t = TimestampOf(at)
	return err
}
