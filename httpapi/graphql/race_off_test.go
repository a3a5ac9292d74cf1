//go:build !race

package graphql_test

const slow = 1
