"""Settings of a Django site with sessions and cache in PostgreSQL; libpq's variables name it."""

import os

SECRET_KEY = "secret"
USE_TZ = True
DEFAULT_AUTO_FIELD = "django.db.models.BigAutoField"
INSTALLED_APPS = ["django.contrib.sessions"]
DATABASES = {
    "default": {
        "ENGINE": "django.db.backends.postgresql",
        "HOST": os.environ["PGHOST"],
        "NAME": os.environ["PGDATABASE"],
        "USER": os.environ["PGUSER"],
        "OPTIONS": {"connect_timeout": 5},
    }
}
CACHES = {
    "default": {
        "BACKEND": "django.core.cache.backends.db.DatabaseCache",
        "LOCATION": os.environ["CACHE_TABLE"],
        "OPTIONS": {"MAX_ENTRIES": 100000},
    }
}
