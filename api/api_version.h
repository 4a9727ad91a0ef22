/// What this is.
#ifndef API_VERSION_H
#define API_VERSION_H

#define API_PROGRAM "navd"
#define API_VERSION "0.1.0"

#endif
