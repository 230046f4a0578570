throw 1;
