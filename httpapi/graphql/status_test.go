package graphql_test

import "testing"

// While nothing is indexed for want of room, everybody who asks is told.
func TestStatusMessagesOfTheDisk(t *testing.T) {
	w := newWorld(t)
	told := func() string {
		t.Helper()
		var a struct {
			StatusMessages []struct{ Typename, Message string }
		}
		w.data(&a, `{ statusMessages { typename: __typename ... on GitserverDiskThresholdReached { message } } }`, nil)
		for _, m := range a.StatusMessages {
			if m.Typename == "GitserverDiskThresholdReached" {
				return m.Message
			}
		}
		return ""
	}
	if got := told(); got != "" {
		t.Errorf("with room: told %q", got)
	}
	w.notice = "indexing has stopped: the disk is nearly full"
	if got, want := told(), w.notice+"; what is indexed can be searched"; got != want {
		t.Errorf("without room: told %q, want %q", got, want)
	}
}
