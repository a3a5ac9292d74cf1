// Package age says in words how long ago something was. Two times come in, such as
// "3 days ago" goes out, for pages and for the texts of commits in answers. It knows no
// clock.
package age
