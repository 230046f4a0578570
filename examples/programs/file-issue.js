// Shows: a read, a write and a check. It finds the most discussed open bug, files a follow-up and reads it back.
const repo = "acme/api";
const issues = await tools.tracker.list_issues({ repo, state: "open" });

const bugs = issues.filter((issue) => issue.labels.some((label) => label.name === "bug"));
const worst = bugs.reduce((a, b) => (b.comments > a.comments ? b : a));

const created = await tools.tracker.create_issue({
  repo,
  title: `Write a regression test for #${worst.number}`,
  body: `#${worst.number} ("${worst.title}") has ${worst.comments} comments and no test.`,
  labels: ["bug", "regression"],
});

const stored = await tools.tracker.get_issue({ repo, number: created.number });
return { number: stored.number, title: stored.title, url: stored.html_url };
