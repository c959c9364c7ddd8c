//===- Serve.h - Deployments: their service, curve, objectives, memory ----===//

#ifndef LIB_SERVE_SERVE_H
#define LIB_SERVE_SERVE_H

#include "lib/Serve/Compare.h"
#include "lib/Serve/Curve.h"
#include "lib/Serve/Objectives.h"
#include "lib/Serve/Service.h"

#endif // LIB_SERVE_SERVE_H
