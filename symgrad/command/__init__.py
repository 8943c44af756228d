"""The command line: each verb is carried out by a function in a module of its own, which is imported when the verb is used."""
