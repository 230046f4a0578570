no front matter
