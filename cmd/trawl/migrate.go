package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"time"

	"github.com/spf13/cobra"

	"github.com/trawlsearch/trawl/cmd/trawl/config"
	"github.com/trawlsearch/trawl/cmd/trawl/progress"
	"github.com/trawlsearch/trawl/cmd/trawl/serverfile"
	"github.com/trawlsearch/trawl/cmd/trawl/service"
	"github.com/trawlsearch/trawl/migrations"
	"github.com/trawlsearch/trawl/store"
	"github.com/trawlsearch/trawl/store/disk"
	"github.com/trawlsearch/trawl/store/ingest"
)

const migrateHelp = `Usage: trawl migrate [flags]

Migrate brings a data directory of an older trawl to the newest format: its
records, which takes seconds at most, and the index of its shards, which takes
about as long as indexing their text. It need not be called.
Every command that opens a data directory brings the records up to date, and a
server rewrites shards in the background while it searches the old ones.

With --dry-run it says what there is to do, and changes nothing. Interrupted, it
goes on where it was; done, it does nothing more. An older trawl refuses the
directory from then on: to go back, restore a backup from before.

  trawl migrate --dry-run`

func (a *app) migrateCommand() *cobra.Command {
	cmd := &cobra.Command{Use: "migrate", Short: "bring a data directory up to date", Long: migrateHelp, Args: arguments(0, 0, "no argument")}
	settings := settingFlags(cmd, "data", "memory", "min-free-bytes", "log-level", "log-format")
	dry := cmd.Flags().Bool("dry-run", false, "say what there is to do, and change nothing")
	asJSON := cmd.Flags().Bool("json", false, "print what was done, or is to be done, as one line of JSON")
	cmd.RunE = func(cmd *cobra.Command, _ []string) error {
		set, err := settings()
		if err != nil {
			return err
		}
		work := a.migrate
		if *dry {
			work = planMigration
		}
		m, err := work(cmd.Context(), set)
		if errors.Is(err, store.ErrLocked) {
			err = migratesItself(set.Data)
		}
		if err != nil {
			return err
		}
		return a.tellMigration(m, *dry, *asJSON)
	}
	return cmd
}

// migration is what migrate did, or is to do.
type migration struct {
	Data string `json:"data"`
	// From is 0 where there is no store.
	From  store.FormatVersion `json:"from"`
	To    store.FormatVersion `json:"to"`
	Steps []migrationStep     `json:"steps"`
	// Shards are to be rewritten, or were; of all that there are.
	Shards int `json:"shards"`
	All    int `json:"allShards"`
	// TextBytes is the text in Shards.
	TextBytes int64 `json:"textBytes"`
}

type migrationStep struct {
	From    store.FormatVersion `json:"from"`
	To      store.FormatVersion `json:"to"`
	About   string              `json:"about"`
	Records int                 `json:"records"`
}

func newMigration(data string, from store.FormatVersion, done []migrations.Done) migration {
	m := migration{Data: data, From: from, To: store.FormatNewest, Steps: []migrationStep{}}
	for _, d := range done {
		m.Steps = append(m.Steps, migrationStep(d))
	}
	return m
}

// planMigration returns the steps to do.
func planMigration(_ context.Context, set config.Settings) (m migration, err error) {
	from, err := store.Format(disk.OS(), set.Data)
	if err != nil || from == 0 {
		return newMigration(set.Data, from, nil), err
	}
	steps, old, err := migrations.Plan(set.Data, store.Options{})
	if err != nil {
		return m, err
	}
	m = newMigration(set.Data, from, steps)
	if len(steps) > 0 {
		m.Shards, m.All, m.TextBytes = old.Outdated, old.All, old.OutdatedBytes
		return m, nil
	}
	st, err := store.Open(set.Data, store.Options{ReadOnly: true})
	if err != nil {
		return m, err
	}
	outdated := ingest.CountOutdated(st)
	m.Shards, m.All, m.TextBytes = outdated.Shards, outdated.All, outdated.TextBytes
	return m, st.Close()
}

// migrate does it.
func (a *app) migrate(ctx context.Context, set config.Settings) (m migration, err error) {
	from, err := store.Format(disk.OS(), set.Data)
	if err != nil || from == 0 {
		return newMigration(set.Data, from, nil), err
	}
	service.LimitMemory(int64(set.Memory))
	done, err := migrations.Run(ctx, set.Data, store.Options{})
	if err != nil {
		return m, err
	}
	m = newMigration(set.Data, from, done)
	out := a.taskOutput(set)
	svc, err := service.Open(ctx, set, service.Options{Log: out.log})
	if err != nil {
		return m, err
	}
	defer func() { err = errors.Join(err, svc.Close()) }()
	outdated := svc.Upkeep().Outdated()
	m.Shards, m.All, m.TextBytes = outdated.Shards, outdated.All, outdated.TextBytes
	if outdated.Shards == 0 {
		return m, nil
	}
	began, task := time.Now(), out.display.Start("shards")
	if _, err := svc.Upkeep().Rebuild(ctx, task.Report); err != nil {
		task.Fail(err)
		return m, err
	}
	task.Done(progress.Summary{Note: fmt.Sprintf("%s rewritten", progress.Counted(outdated.Shards, "shard")), Took: time.Since(began)})
	return m, nil
}

// migratesItself says who has the data directory.
func migratesItself(data string) error {
	if f, err := serverfile.Read(data); err == nil {
		return fmt.Errorf("data directory %s is served, by process %d, which migrates it itself", data, f.PID)
	}
	return lockedError(data)
}

// tellMigration prints m.
func (a *app) tellMigration(m migration, dry, asJSON bool) error {
	if asJSON {
		return json.NewEncoder(a.stdout).Encode(m)
	}
	_, err := fmt.Fprint(a.stdout, migrationText(m, dry))
	return err
}

// migrationText is m for people.
func migrationText(m migration, dry bool) string {
	if m.From == 0 {
		return fmt.Sprintf("%s holds no store: there is nothing to migrate\n", m.Data)
	}
	verb := func(done, planned string) string {
		if dry {
			return planned
		}
		return done
	}
	text := ""
	for _, s := range m.Steps {
		text += fmt.Sprintf("format %d to %d: %s, %s %s\n", s.From, s.To, s.About, progress.Count(s.Records), verb("records changed", "records to change"))
	}
	if m.Shards > 0 {
		text += fmt.Sprintf("index: %s of %s with %s of text %s\n", progress.Count(m.Shards), progress.Counted(m.All, "shard"), progress.Size(m.TextBytes),
			verb("rewritten", "to rewrite"))
	}
	if text == "" {
		text = fmt.Sprintf("%s has format %d and the newest index: there is nothing to do\n", m.Data, m.To)
	}
	return text
}
