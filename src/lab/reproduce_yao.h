/* What the experiments of Yao et al. 2019 have in common. */
#pragma once

#include "lab/reproduce.h"
