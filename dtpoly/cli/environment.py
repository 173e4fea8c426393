"""Lists the environment variables of dtpoly that set no option of a command.

docs/settings.md describes each of them; tests compare the page, this list and the sources.
"""

VARIABLES = {
    "DTPOLY_CACHE_DIR": "the folder of the cache",
    "DTPOLY_CHECK": "whether calls from Python check data that is an index",
    "DTPOLY_DEBUG": "whether a bug of dtpoly ends in a traceback",
    "DTPOLY_DEVICE": "the GPU for which calls from Python choose a schedule",
    "DTPOLY_SETTINGS": "the settings file",
}
