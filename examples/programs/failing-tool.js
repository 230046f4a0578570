// Shows: a tool that fails throws an Error with the tool's own message. The program catches it and goes on.
const counts = {};
const failures = [];

for (const repo of ["acme/api", "acme/mobile", "acme/web"]) {
  try {
    const issues = await tools.tracker.list_issues({ repo, state: "open" });
    counts[repo] = issues.length;
  } catch (error) {
    failures.push({ repo, message: error.message });
  }
}

return { counts, failures };
