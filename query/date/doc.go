// Package date turns the dates people write in before:, after: and at.time()
// into instants. A text and the present time come in and a time goes out;
// nothing is read from a clock. Times without a zone are UTC, and a word such
// as "thursday" or "june" means the last one that has passed.
//
// Whether a text is a date does not depend on the present time. A text that is
// only half understood is refused rather than guessed at.
package date
