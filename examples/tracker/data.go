package main

import (
	"fmt"
	"math/rand/v2"
	"strings"
	"time"
)

// perRepository makes a listing of 300 issues about 228 KB of JSON: a page as real trackers send it.
const perRepository = 300

var repositories = []repository{
	{Name: "acme/api", Description: "The public HTTP API"},
	{Name: "acme/web", Description: "The web application"},
	{Name: "acme/cli", Description: "The command line tool"},
	{Name: "acme/docs", Description: "Guides and reference"},
	{Name: "acme/infra", Description: "What it all runs on"},
}

// most are the only issues with more than 200 comments, so that "the three with most comments" has one answer.
var most = map[string]int{"acme/infra#117": 487, "acme/api#42": 451, "acme/docs#203": 398}

var (
	actors   = words("retry pagination login upload search export webhook cache session index scheduler migration")
	troubles = words("fails hangs crashes leaks stalls repeats truncates duplicates regresses")
	places   = words("startup shutdown upgrade failover import rollback rotation reload")
	labels   = words("bug enhancement documentation performance security regression question blocked")
	users    = words("ada brian carla dmitri elif farah goran hana ines jonas")
)

func words(s string) []string { return strings.Fields(s) }

// generate makes a repository's issues, newest first. They depend on nothing but the name's index: no clock,
// and a generator whose sequence Go promises to keep (math/rand/v2.PCG).
func generate(index int) []issue {
	r := rand.New(rand.NewPCG(2026, uint64(index)))
	issues := make([]issue, 0, perRepository)
	for number := perRepository; number > 0; number-- {
		issues = append(issues, generateIssue(r, repositories[index].Name, number))
	}
	return issues
}

func generateIssue(r *rand.Rand, repo string, number int) issue {
	made := newIssue(repo, number, "open")
	actor, trouble, place := pick(r, actors), pick(r, troubles), pick(r, places)
	made.Title = fmt.Sprintf("%s %s after %s", actor, trouble, place)
	made.Labels = []label{{pick(r, labels)}}
	if second := pick(r, labels); second != made.Labels[0].Name {
		made.Labels = append(made.Labels, label{second})
	}
	made.User = newUser(pick(r, users))
	made.Comments = r.IntN(200)
	if n, ok := most[fmt.Sprintf("%s#%d", repo, number)]; ok {
		made.Comments = n
	}
	if r.IntN(3) == 0 {
		made.State = "closed"
	}
	made.UpdatedAt = made.CreatedAt.Add(time.Duration(r.IntN(1000)) * time.Hour)
	made.Body = fmt.Sprintf("The %[1]s %[2]s after %[3]s.\n\n- Version: 4.%[4]d.%[5]d on linux/amd64, go1.26\n- Seen: %[6]d times since \"%[7]s\"\n\n"+
		"Steps: start two nodes, force a %[3]s, then watch the %[1]s for %[5]d minutes. Expected it to settle; got %[6]d errors "+
		"instead, and it does so again on each and every attempt.", actor, trouble, place, r.IntN(30), 1+r.IntN(90), 1+r.IntN(5000), pick(r, actors))
	return made
}

func pick(r *rand.Rand, from []string) string { return from[r.IntN(len(from))] }
