package web

import "strconv"

// Number returns a number with a comma before each thousand.
func Number(n int) string {
	digits := strconv.Itoa(n)
	for i := len(digits) - 3; i > 0 && digits[i-1] != '-'; i -= 3 {
		digits = digits[:i] + "," + digits[i:]
	}
	return digits
}

// Count returns how many there are of something: "1 line", "2,000 lines".
func Count(n int, one, many string) string {
	if n == 1 {
		many = one
	}
	return Number(n) + " " + many
}
