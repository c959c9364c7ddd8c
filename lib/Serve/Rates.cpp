#include "lib/Serve/Rates.h"

namespace modelc {

void fillRates(Service &service, Production production, const Served &served,
               const Target &target) {
  service.made = std::move(production);
  const Production &made = service.made;
  double gpus = served.gpus;
  auto per = [](double amount) {
    return [amount](double x) { return amount / x; };
  };
  service.outputPerSecond = each(per(made.outputTokens), made.seconds);
  service.totalPerSecond = each(per(made.totalTokens), made.seconds);
  service.outputPerSecondPerGpu =
      each(per(made.outputTokens / gpus), made.seconds);
  if (service.tpot) {
    service.outputPerSecondPerUser = each(per(1), *service.tpot);
  }
  service.requestsPerSecond =
      each(per(made.outputTokens / served.load.outputTokens), made.seconds);
  Views board = each([&](double j) { return j * gpus; }, made.joules);
  Views wall = each(
      [&](double j, double s) {
        return (j + target.power.hostPerGpu * gpus * s) * target.power.pue;
      },
      board, made.seconds);
  auto share = [](double tokens) {
    return [tokens](double x) { return x / tokens; };
  };
  service.boardJoulesPerOutput = each(share(made.outputTokens), board);
  service.wallJoulesPerOutput = each(share(made.outputTokens), wall);
  service.boardJoulesPerToken = each(share(made.totalTokens), board);
  service.wallJoulesPerToken = each(share(made.totalTokens), wall);
  constexpr double kSecondsPerHour = 3600;
  double dollarsPerSecond = served.dollarsPerHour * gpus / kSecondsPerHour;
  auto dollars = [&](double tokens) {
    return [=](double s) { return dollarsPerSecond * s / tokens * 1e6; };
  };
  service.dollarsPerMillionOutput =
      each(dollars(made.outputTokens), made.seconds);
  service.dollarsPerMillionTokens =
      each(dollars(made.totalTokens), made.seconds);
}

} // namespace modelc
