/* melicit/melicit.h: everything. Rooms in the order in which data flows through them. */
#ifndef MELICIT_H
#define MELICIT_H

#include "melicit/arrow.h"
#include "melicit/base.h"
#include "melicit/certainty.h"
#include "melicit/classify.h"
#include "melicit/data.h"
#include "melicit/elicit.h"
#include "melicit/engine.h"
#include "melicit/face.h"
#include "melicit/layout.h"
#include "melicit/metric.h"
#include "melicit/model.h"
#include "melicit/optimise.h"
#include "melicit/oracle.h"
#include "melicit/outcome.h"
#include "melicit/problem.h"
#include "melicit/rank.h"
#include "melicit/report.h"
#include "melicit/space.h"
#include "melicit/trust.h"

#endif
