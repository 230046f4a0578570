package main

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"sync"
)

// maxCreated bounds what clients can make the server keep, for each repository.
const maxCreated = 1000

// store keeps the issues in memory. Its errors are for the model: they say what would have worked.
type store struct {
	mu     sync.Mutex // guards the fields below
	issues map[string][]issue
	texts  map[string]string // listings as JSON by repository and state, until the repository changes
}

func newStore() *store {
	s := &store{issues: map[string][]issue{}, texts: map[string]string{}}
	for i, r := range repositories {
		s.issues[r.Name] = generate(i)
	}
	return s
}

func (s *store) repositories() []repository {
	s.mu.Lock()
	defer s.mu.Unlock()
	list := slices.Clone(repositories)
	for i := range list {
		list[i].OpenIssues = len(inState(s.issues[list[i].Name], "open"))
	}
	return list
}

// list returns the repository's issues as JSON, newest first. State is open, closed or, for both, all.
func (s *store) list(repo, state string) (string, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	issues, err := s.of(repo)
	if err != nil {
		return "", err
	}
	key := repo + " " + state
	if text, ok := s.texts[key]; ok {
		return text, nil
	}
	text, err := json.Marshal(inState(issues, state))
	s.texts[key] = string(text)
	return string(text), err
}

func (s *store) issue(repo string, number int) (issue, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	issues, err := s.of(repo)
	if err != nil {
		return issue{}, err
	}
	i := slices.IndexFunc(issues, func(i issue) bool { return i.Number == number })
	if i < 0 {
		return issue{}, fmt.Errorf("%s has no issue %d: its issues are 1 to %d", repo, number, issues[0].Number)
	}
	return issues[i], nil
}

func (s *store) create(repo, title, body string, labels []string) (issue, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	issues, err := s.of(repo)
	if err != nil {
		return issue{}, err
	}
	if len(issues) >= perRepository+maxCreated {
		return issue{}, fmt.Errorf("%s is full: this server keeps at most %d created issues a repository; restart it", repo, maxCreated)
	}
	made := newIssue(repo, issues[0].Number+1, "open")
	made.Title, made.Body, made.User = title, body, newUser("you")
	for _, name := range labels {
		made.Labels = append(made.Labels, label{name})
	}
	s.issues[repo] = slices.Insert(issues, 0, made)
	clear(s.texts)
	return made, nil
}

func (s *store) of(repo string) ([]issue, error) {
	if issues, ok := s.issues[repo]; ok {
		return issues, nil
	}
	var names []string
	for _, r := range repositories {
		names = append(names, r.Name)
	}
	return nil, fmt.Errorf("unknown repository %q: there are %s", repo, strings.Join(names, ", "))
}

func inState(issues []issue, state string) []issue {
	if state == "all" {
		return issues
	}
	return slices.DeleteFunc(slices.Clone(issues), func(i issue) bool { return i.State != state })
}
