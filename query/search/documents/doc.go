// Package documents searches documents. Basic queries of one shape come in; their shards
// are planned window by window, cut into segments and verified, by workers if there
// is more than a little; groups of segments are sorted and sent to the answer. It
// says nothing about which documents match, or what they are worth.
package documents
