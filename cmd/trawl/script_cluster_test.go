//go:build unix

package main

import (
	"path/filepath"
	"testing"

	"github.com/rogpeppe/go-internal/testscript"

	"github.com/trawlsearch/trawl/internal/postgrestest"
)

// TestClusterScripts runs testdata/cluster/*.txt, each with a PostgreSQL server of its
// own at $AUTHORITY.
func TestClusterScripts(t *testing.T) {
	if testing.Short() {
		t.Skip("starts databases")
	}
	programs := plainPrograms(t)
	files, err := filepath.Glob("testdata/cluster/*.txt")
	if err != nil || len(files) == 0 {
		t.Fatalf("scripts are %q, %v", files, err)
	}
	template := &postgrestest.Template{}
	defer template.Remove()
	for _, file := range files {
		t.Run(filepath.Base(file), func(t *testing.T) {
			server := template.Start(t)
			testscript.Run(t, testscript.Params{
				Files: []string{file}, RequireExplicitExec: true, RequireUniqueNames: true, UpdateScripts: *update,
				Setup: func(env *testscript.Env) error {
					env.Setenv("AUTHORITY", server.Address())
					return setScript(env, programs)
				},
				Condition: scriptCondition, Cmds: scriptCommands(),
			})
		})
	}
}
