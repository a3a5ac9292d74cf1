package stream

// Summary is what logs and metrics tell of a search. It is filled in while the search is
// answered.
type Summary struct {
	// TraceID names the search. Outcome is one of Outcomes, Failed until it has ended.
	TraceID, Outcome string
	// Matches counts what was found, and MostHeld is how many bytes of it waited for the
	// client at most.
	Matches, MostHeld int
}

// The ways in which a search ends for its client.
const (
	Refused   = "refused"   // without a search
	Done      = "done"      // with an answer
	Cancelled = "cancelled" // by its credential or the end of the server
	Failed    = "failed"
	Abandoned = "abandoned" // by its client
)

// Outcomes returns the ways in which a search ends.
func Outcomes() []string { return []string{Refused, Done, Cancelled, Failed, Abandoned} }
