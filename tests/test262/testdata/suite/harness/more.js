var included = true;
