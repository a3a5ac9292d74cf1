package graphql

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/graph-gophers/graphql-go"

	"github.com/trawlsearch/trawl/httpapi/graphql/account"
	"github.com/trawlsearch/trawl/httpapi/graphql/wire"
	"github.com/trawlsearch/trawl/httpapi/manage"
	"github.com/trawlsearch/trawl/store/saved"
)

// searchJob is the type SearchJob.
type searchJob struct {
	s *session
	j *saved.Job
}

func (j *searchJob) ID() graphql.ID             { return wire.NewID(wire.KindSearchJob, j.j.ID) }
func (j *searchJob) Query() string              { return j.j.Query }
func (j *searchJob) State() string              { return string(j.j.State) }
func (j *searchJob) CreatedAt() wire.DateTime   { return wire.DateTime{Time: j.j.Created} }
func (j *searchJob) StartedAt() *wire.DateTime  { return wire.TimeOrNull(j.j.Started) }
func (j *searchJob) FinishedAt() *wire.DateTime { return wire.TimeOrNull(j.j.Finished) }
func (j *searchJob) URL() *string               { return j.export("jsonl") }
func (j *searchJob) LogURL() *string            { return j.export("log") }

// Creator is null for the operator, and for who is gone.
func (j *searchJob) Creator() (*account.User, error) { return j.s.UserByID(j.j.Creator) }

func (j *searchJob) export(kind string) *string {
	if !j.j.State.Final() {
		return nil
	}
	return wire.TextOrNull(fmt.Sprintf("%s%s%d.%s", j.s.Base, exportPath, j.j.ID, kind))
}

// jobStats is the type SearchJobStats.
type jobStats struct{ Total, Completed, Failed, InProgress int32 }

// RepoStats counts the repositories.
func (j *searchJob) RepoStats() jobStats {
	left := len(j.j.Repositories) - j.j.Done
	if j.j.State.Final() {
		left = 0
	}
	return jobStats{wire.Int32(len(j.j.Repositories)), wire.Int32(j.j.Done - j.j.Failures), wire.Int32(j.j.Failures), wire.Int32(left)}
}

// keptJobs returns the search jobs of the client.
func (s *session) keptJobs() *manage.Jobs {
	kept := s.Kept()
	kept.Cancelled = s.jobs.Cancelled
	return &manage.Jobs{Kept: kept, Actor: s.Actor}
}

// jobOf finds one by its global id; nil is none, or one that may not be seen.
func (s *session) jobOf(id graphql.ID) (*searchJob, error) {
	n, err := wire.NumberOf(id, wire.KindSearchJob)
	if err != nil {
		return nil, err
	}
	j, err := s.keptJobs().Find(n)
	if account.IsMissing(err) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	return &searchJob{s, j}, nil
}

// jobConnection is the type SearchJobConnection.
type jobConnection struct {
	Nodes      []*searchJob
	TotalCount int32
	PageInfo   wire.Page
}

// SearchJobs lists those that the client may see.
func (*resolver) SearchJobs(ctx context.Context, args struct {
	wire.PageArgs
	Query      wire.String
	States     *[]string
	UserIDs    *[]graphql.ID
	OrderBy    wire.String
	Descending wire.Bool
}) (*jobConnection, error) {
	s := sessionOf(ctx)
	nodes := []*searchJob{}
	err := s.keptJobs().Each(func(j *saved.Job) {
		if account.HoldsFold(j.Query, args.Query.Or("")) &&
			(args.States == nil || slices.Contains(*args.States, string(j.State))) &&
			(args.UserIDs == nil || slices.Contains(*args.UserIDs, wire.NewID(wire.KindUser, j.Creator))) {
			nodes = append(nodes, &searchJob{s, j})
		}
	})
	if err != nil {
		return nil, account.Told(err)
	}
	slices.SortFunc(nodes, func(a, b *searchJob) int {
		c := 0
		switch args.OrderBy.Or("CREATED_AT") {
		case "QUERY":
			c = strings.Compare(a.j.Query, b.j.Query)
		case "STATE":
			c = strings.Compare(string(a.j.State), string(b.j.State))
		}
		c = cmp.Or(c, cmp.Compare(a.j.ID, b.j.ID))
		if args.Descending.Or(false) {
			return -c
		}
		return c
	})
	switch {
	case args.Last.Value != nil: // which nobody says by default, as they do first
		args.First.Value = nil
	case args.First.Value == nil:
		fifty := int32(50)
		args.First.Value = &fifty
	}
	p, err := wire.CutByIndex(len(nodes), 100, args.PageArgs)
	if err != nil {
		return nil, err
	}
	return &jobConnection{nodes[p.From:p.To], wire.Int32(len(nodes)), p}, nil
}

// ValidateSearchJob says what is wrong with a query.
func (*resolver) ValidateSearchJob(ctx context.Context, args struct{ Query string }) (*wire.Empty, error) {
	return &wire.Empty{}, account.Told(sessionOf(ctx).keptJobs().Check(args.Query))
}

// CreateSearchJob queues a search.
func (*resolver) CreateSearchJob(ctx context.Context, args struct{ Query string }) (*searchJob, error) {
	s := sessionOf(ctx)
	j, err := s.keptJobs().Create(args.Query)
	if err != nil {
		return nil, account.Told(err)
	}
	return &searchJob{s, j}, nil
}

// CancelSearchJob ends a job; one that is over stays as it is.
func (*resolver) CancelSearchJob(ctx context.Context, args struct{ ID graphql.ID }) (*wire.Empty, error) {
	n, err := wire.NumberOf(args.ID, wire.KindSearchJob)
	if err == nil {
		err = sessionOf(ctx).keptJobs().Cancel(n)
	}
	return &wire.Empty{}, account.Told(err)
}

// DeleteSearchJob forgets a job.
func (*resolver) DeleteSearchJob(ctx context.Context, args struct{ ID graphql.ID }) (*wire.Empty, error) {
	n, err := wire.NumberOf(args.ID, wire.KindSearchJob)
	if err == nil {
		err = sessionOf(ctx).keptJobs().Delete(n)
	}
	return &wire.Empty{}, account.Told(err)
}
