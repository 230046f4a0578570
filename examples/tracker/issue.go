package main

import (
	"fmt"
	"time"
)

// issue has the shape of GitHub's, as far as programs look at it.
type issue struct {
	ID        int       `json:"id"`
	Number    int       `json:"number"`
	Title     string    `json:"title"`
	State     string    `json:"state" jsonschema:"open or closed"`
	Labels    []label   `json:"labels"`
	User      user      `json:"user"`
	Author    string    `json:"author_association"`
	Comments  int       `json:"comments" jsonschema:"count of comments"`
	CreatedAt time.Time `json:"created_at"`
	UpdatedAt time.Time `json:"updated_at"`
	HTMLURL   string    `json:"html_url"`
	Body      string    `json:"body"`
}

type label struct {
	Name string `json:"name"`
}

type user struct {
	Login     string `json:"login"`
	ID        int    `json:"id"`
	Type      string `json:"type"`
	AvatarURL string `json:"avatar_url"`
	HTMLURL   string `json:"html_url"`
}

type repository struct {
	Name        string `json:"name"`
	Description string `json:"description"`
	OpenIssues  int    `json:"open_issues"`
}

var epoch = time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)

// newIssue dates the issue by its number: a clock would make two starts differ.
func newIssue(repo string, number int, state string) issue {
	at := epoch.Add(time.Duration(number) * time.Hour)
	return issue{
		ID: 1_000_000 + number, Number: number, State: state, Labels: []label{}, Author: "MEMBER", CreatedAt: at, UpdatedAt: at,
		HTMLURL: fmt.Sprintf("https://tracker.example/%s/issues/%d", repo, number),
	}
}

func newUser(login string) user {
	id := 0
	for _, c := range []byte(login) {
		id = (id*31 + int(c)) % 1_000_000
	}
	return user{
		Login: login, ID: id, Type: "User",
		AvatarURL: "https://tracker.example/avatars/" + login,
		HTMLURL:   "https://tracker.example/" + login,
	}
}
