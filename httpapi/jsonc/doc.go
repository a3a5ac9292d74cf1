// Package jsonc reads JSON with comments, and with commas behind the last
// member, as people write it into settings. Text of strangers comes in; a tree
// that can be changed and written again, or plain JSON, goes out. It knows
// nothing of what the text is for, and the caller bounds its length.
//
// The parser below it calls itself for each level and needs 1.7 KB of stack
// each time: two million brackets ended the process.
package jsonc
