"""Folds by domain: pages of one registered domain are always in the same fold, in every set. Printed pages: by publishing
system, all its themes together, or by source."""
import hashlib
from urllib.parse import urlsplit

# Second-level labels under which domains are registered in many countries.
SECOND_LEVEL = {"co", "com", "org", "net", "gov", "edu", "ac", "or", "ne", "go", "gob", "gouv", "govt"}
FOLDS = 3


def domain_of(url):
    labels = (urlsplit(url).hostname or "").split(".")
    keep = 3 if len(labels) > 2 and labels[-2] in SECOND_LEVEL and len(labels[-1]) == 2 else 2
    return ".".join(labels[-keep:])


def fold_of(url):
    return number_of(domain_of(url)) % FOLDS


def fold_of_printed(system_or_source):
    return number_of(system_or_source.split("/")[0]) % FOLDS


def number_of(name):
    return int(hashlib.sha256(name.encode()).hexdigest(), 16)
