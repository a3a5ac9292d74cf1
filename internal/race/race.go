package race

import "time"

// Scaled returns n, or few with the race detector.
func Scaled(n, few int) int {
	if Enabled {
		return few
	}
	return n
}

// Slow is how many times longer what one goroutine does may take.
func Slow() time.Duration { return time.Duration(Scaled(1, 20)) }
