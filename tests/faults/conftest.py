from tests.s3_fixtures import *  # noqa: F403
