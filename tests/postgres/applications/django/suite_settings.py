"""Settings of Django's own tests, in the database that libpq's variables name."""

import os

SECRET_KEY = "secret"
USE_TZ = False
DEFAULT_AUTO_FIELD = "django.db.models.AutoField"
PASSWORD_HASHERS = ["django.contrib.auth.hashers.MD5PasswordHasher"]
DATABASES = {
    "default": {
        "ENGINE": "django.db.backends.postgresql",
        "HOST": os.environ["PGHOST"],
        "NAME": os.environ["PGDATABASE"],
        "USER": os.environ["PGUSER"],
        # No database of its own: this one is kept.
        "TEST": {"NAME": os.environ["PGDATABASE"]},
    },
    "other": {"ENGINE": "django.db.backends.postgresql", "TEST": {"MIRROR": "default"}},
}
