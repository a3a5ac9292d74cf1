package s3

import "time"

// OpenWithin is Open with less patience.
func OpenWithin(address string, getenv func(string) string, within time.Duration, tries int) (*Bucket, error) {
	return open(address, getenv, patience{within, 2 * within, tries, time.Millisecond})
}
