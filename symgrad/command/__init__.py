"""The command line: verbs with their options, each carried out by a function that is imported when its verb is used."""
