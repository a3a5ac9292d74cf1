package graphql

import (
	"embed"
	"io/fs"
	"strings"
	"sync"
)

//go:embed schema/*.graphql
var schemaFiles embed.FS

// SDL returns the schema as it is served.
var SDL = sync.OnceValue(func() string {
	names, err := fs.Glob(schemaFiles, "schema/*.graphql")
	if err != nil {
		panic("graphql: list embedded schema: " + err.Error())
	}
	var b strings.Builder
	for _, name := range names {
		text, err := schemaFiles.ReadFile(name)
		if err != nil {
			panic("graphql: read embedded schema: " + err.Error())
		}
		if b.Len() > 0 {
			b.WriteByte('\n')
		}
		b.Write(text)
	}
	return b.String()
})
