// Package notify delivers messages about new matches of a saved search. A message
// and an address come in; a mail, a request of a webhook or a message of Slack goes
// out, once. The caller decides when to send, keeps what was sent, and tries again
// after an error that is not ErrPermanent.
//
// Texts of a message may hold anything: they are cut, and cleaned of characters that
// control how they are shown, before they are written. Addresses are secrets: who
// knows one can write to the channel behind it. No error of this package holds one.
package notify
