// Package object stores named bytes in a folder, or in a bucket (package s3 below
// it). Names and bytes come in and are there afterwards whole or not at all; they
// come back by name, or as a list. Backups and shards of a cluster are objects; the
// package knows neither.
package object
