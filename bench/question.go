package bench

import (
	_ "embed"
	"errors"
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"
)

//go:embed questions/questions.txt
var shippedQuestions string

// QuestionSet are questions about the source of some repositories, each as it is at one
// commit.
type QuestionSet struct {
	// Commits are those of the repositories.
	Commits   map[string]string
	Questions []Question
}

// Question is a question in plain words about the source of a repository.
type Question struct {
	Name       string `json:"name"`
	Repository string `json:"repository"`
	// Kind groups questions in the report: behaviour, error, default and so on.
	Kind string `json:"kind"`
	Text string `json:"text"`
	// Terms are the words that one who knows the software, but not the answer, searches
	// for, the most telling first.
	Terms []string `json:"terms"`
	// Answers are the places of which any will do.
	Answers []AnswerLine `json:"answers"`
}

// AnswerLine is a line of a file, counted from 1, and its text without the space around it.
type AnswerLine struct {
	Path string `json:"path"`
	Line int    `json:"line"`
	Text string `json:"text"`
}

// ShippedQuestions returns the set that comes with the program: twenty questions each
// about git, etcd and redis.
func ShippedQuestions() (QuestionSet, error) {
	set, err := ParseQuestions(shippedQuestions)
	if err != nil {
		return QuestionSet{}, fmt.Errorf("questions: %w", err)
	}
	return set, nil
}

// ParseQuestions reads a set: blocks of fields as in a query file. A block with
// repository and commit names a repository; one with name, repository, kind, question,
// terms and answer, which may be repeated, is a question about one that was named.
func ParseQuestions(text string) (QuestionSet, error) {
	set := QuestionSet{Commits: map[string]string{}}
	err := eachBlock(text, func(block []field) error {
		var q Question
		commit := ""
		seen := map[string]bool{}
		for _, f := range block {
			var err error
			switch {
			case f.value == "":
				err = fmt.Errorf("%s has no value", f.name)
			case seen[f.name] && f.name != "answer":
				err = fmt.Errorf("%s stands twice in this block", f.name)
			case f.name == "commit":
				commit = f.value
			default:
				err = q.set(f.name, f.value)
			}
			if err != nil {
				return fmt.Errorf("line %d: %w", f.line, err)
			}
			seen[f.name] = true
		}
		if err := set.add(q, commit); err != nil {
			return fmt.Errorf("block at line %d: %w", block[0].line, err)
		}
		return nil
	})
	return set, err
}

// add takes what a block says.
func (s *QuestionSet) add(q Question, commit string) error {
	known := s.Commits[q.Repository] != ""
	switch {
	case commit != "" && (q.Repository == "" || q.Name != "" || known):
		return errors.New("a block with a commit has a new repository, and nothing else")
	case commit != "":
		s.Commits[q.Repository] = commit
		return nil
	case q.Name == "" || q.Kind == "" || q.Text == "" || len(q.Terms) == 0 || len(q.Answers) == 0:
		return errors.New("a question has name, kind, question, terms and answer")
	case !known:
		return fmt.Errorf("no block above names the commit of %q", q.Repository)
	case slices.ContainsFunc(s.Questions, func(o Question) bool { return o.Name == q.Name }):
		return fmt.Errorf("name %q is taken", q.Name)
	}
	s.Questions = append(s.Questions, q)
	return nil
}

// answerForm is the form of an answer: path, line and text.
var answerForm = regexp.MustCompile(`^([^/:][^:]*):([1-9][0-9]*): (.+)$`)

func (q *Question) set(name, value string) (err error) {
	switch name {
	case "repository":
		q.Repository = value
	case "name":
		return setName(&q.Name, name, value)
	case "kind":
		return setName(&q.Kind, name, value)
	case "question":
		q.Text = value
	case "terms":
		q.Terms = strings.Fields(value)
	case "answer":
		m := answerForm.FindStringSubmatch(value)
		if m == nil {
			return fmt.Errorf("answer %q: write path:line: text", value)
		}
		a := AnswerLine{Path: m[1], Text: m[3]}
		if a.Line, err = strconv.Atoi(m[2]); err != nil {
			return err
		}
		q.Answers = append(q.Answers, a)
	default:
		return fmt.Errorf("unknown field %q", name)
	}
	return nil
}
